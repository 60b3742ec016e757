"""GASLoC (arXiv 2606.11081, second hand) on random pairs with an outer rate of 1, so that a replica proposes its weights: phi is what
it proposed one round before, at first what all start from."""
among = "pairs"
every = 50
sends = ["weights"]
keeps = ["phi"]
columnwise = True


def step(theta, phi, mean_weights, own_weights, *, alpha=0.5, gamma=0.5):
    proposed = theta.copy()
    theta -= own_weights
    theta += mean_weights
    theta += (1 - alpha) * (own_weights - mean_weights)
    theta += gamma * (proposed - phi)
    phi[:] = proposed
