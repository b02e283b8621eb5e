"""One thread for arithmetic: toys only wait for more, and on a busy machine they wait long."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when torch is first imported, here and in what tests start
