"""`python -m recsys.jobs`: run the waiting jobs."""

from recsys.jobs.runner import run

if __name__ == "__main__":
    run()
