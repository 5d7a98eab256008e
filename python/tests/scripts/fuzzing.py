"""Writes a corpus for a fuzzer, and reads it back: tests as bytes, some with a swarm seed in front."""

import random
import struct
import sys

import sut as SUT

sut = SUT.sut()
R, Rswarm = random.Random(int(sys.argv[1])), random.Random()
corpus = []
for i in range(6):
    seed = R.randint(0, 2**32 - 1)
    Rswarm.seed(seed)
    sut.standardSwarm(Rswarm)
    (t, ok) = sut.makeTest(30, R, stopFail=True, checkProp=True)
    r = t if ok else t[:-1]
    corpus.append((r, struct.pack("<L", seed) + sut.testToBytes(r)))
    sut.enableAll()
    sut.saveTest(r, f"plain.{i}.afl", afl=True)
for i, (r, data) in enumerate(corpus):
    assert sut.loadTest(f"plain.{i}.afl", afl=True) == r
    assert sut.bytesToTest(data, swarm=True) == r
    sut.enableAll()
noise = bytes(R.randrange(256) for _ in range(400))
sut.restart()
taken = 0
for a in sut.bytesToTest(noise):
    if a[1]():
        taken += 1
        if not sut.safely(a) or not sut.check():
            print("FAILURE:", sut.failure()[0].__name__)
            break
print("TAKEN:", taken)
assert taken > 20
