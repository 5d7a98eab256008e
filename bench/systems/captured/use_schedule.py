"""Plans jobs as a small service does, without waiting for them."""

import datetime

import schedule

done = []


def job(name="job"):
    done.append(name)
    return name


def once():
    done.append("once")
    return schedule.CancelJob


def refused(action, *arguments):
    try:
        print(action(*arguments))
    except (schedule.ScheduleError, TypeError) as error:
        print(type(error).__name__, error)


def plan():
    scheduler = schedule.Scheduler()
    scheduler.every(10).minutes.do(job)
    scheduler.every().hour.do(job, name="hourly")
    scheduler.every().day.at("10:30").do(job).tag("daily", "report")
    scheduler.every(5).to(10).days.do(job)
    scheduler.every().monday.do(job)
    scheduler.every().wednesday.at("13:15").do(job)
    scheduler.every().minute.at(":17").do(job)
    scheduler.every().hour.at("30:15").do(job)
    scheduler.every(3).weeks.do(job).tag("rare")
    scheduler.every().second.until(datetime.timedelta(hours=1)).do(once)
    print(
        len(scheduler.get_jobs()), len(scheduler.get_jobs("daily")), scheduler.next_run is not None
    )
    print(scheduler.idle_seconds is not None, scheduler.get_next_run("missing"))
    for planned in scheduler.get_jobs():
        print(planned.interval, planned.unit, planned.start_day, planned.at_time, planned.latest)
    print(str(scheduler.get_jobs()[1]))
    scheduler.run_pending()
    print(len(done))
    scheduler.run_all()
    print(done, len(scheduler.get_jobs()))
    scheduler.clear("report")
    scheduler.cancel_job(scheduler.get_jobs()[0])
    print(len(scheduler.get_jobs()))
    scheduler.clear()
    print(scheduler.get_jobs(), scheduler.next_run)


def late():
    scheduler = schedule.Scheduler()
    planned = scheduler.every(2).seconds.do(job)
    planned.next_run = datetime.datetime.now() - datetime.timedelta(seconds=5)
    print(planned.should_run)
    scheduler.run_pending()
    print(planned.last_run is not None, planned.should_run)


@schedule.repeat(schedule.every(4).hours)
def sweep():
    done.append("sweep")


def refuse():
    refused(lambda: schedule.every(2).minute)
    refused(lambda: schedule.every(2).monday)
    refused(lambda: schedule.every().day.at("25:00:99:1"))
    refused(lambda: schedule.every().day.at("noon"))
    refused(lambda: schedule.every().hour.at("61"))
    refused(lambda: schedule.every().week.at("10:00"))
    refused(lambda: schedule.every().day.at(1030))
    refused(lambda: schedule.every().do(job))
    refused(lambda: schedule.every(7).to(3).days.do(job))
    refused(lambda: schedule.every().day.until("never"))
    refused(lambda: schedule.every().day.until(datetime.datetime(2001, 1, 1)))
    refused(lambda: schedule.every().day.tag(["list"]))


if __name__ == "__main__":
    plan()
    late()
    refuse()
    print(len(schedule.jobs))
    schedule.clear()
