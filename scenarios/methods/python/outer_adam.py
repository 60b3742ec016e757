"""DiLoCo with Adam (arXiv 1412.6980, algorithm 1) as its outer optimizer."""
import numpy

like = "diloco"
keeps = ["squares"]
columnwise = True


def step(theta, phi, momentum, squares, mean_delta, round, *, outer_lr=0.1, beta1=0.9, beta2=0.95):
    momentum += (1 - beta1) * (mean_delta - momentum)
    squares += (1 - beta2) * (mean_delta**2 - squares)
    phi += outer_lr * (momentum / (1 - beta1**round)) / (numpy.sqrt(squares / (1 - beta2**round)) + 1e-8)
    theta[:] = phi
