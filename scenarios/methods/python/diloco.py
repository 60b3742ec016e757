"""DiLoCo (arXiv 2311.08105, algorithm 1), with Nesterov momentum."""
like = "diloco"
columnwise = True


def step(theta, phi, momentum, mean_delta, *, outer_lr, outer_momentum):
    momentum *= outer_momentum
    momentum += mean_delta
    phi += outer_lr * (mean_delta + outer_momentum * momentum)
    theta[:] = phi
