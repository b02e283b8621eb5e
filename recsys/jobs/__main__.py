"""`python -m recsys.jobs`: train what waits, one after the other, until nothing does."""

from recsys.jobs.runner import run

if __name__ == "__main__":
    run()
