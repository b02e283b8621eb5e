"""NextReel's engine room: data, models, training, evaluation and serving of movie recommenders."""
