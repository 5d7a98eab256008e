"""Threads of the program count."""

import threading


def work(number, results):
    for step in range(50):
        if step % 7 == number:
            results.append(step)
        elif number > 5:
            try:
                raise LookupError(step)
            except LookupError:
                results.append(number)


results = []
threads = [threading.Thread(target=work, args=(number, results)) for number in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
