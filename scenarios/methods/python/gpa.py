"""Generalized Primal Averaging (arXiv 2512.17131; facebookresearch/optimizers, gpa): z takes the inner steps, x averages z, and
training goes on from y between both. The paper has one worker and a step at a time (inner_steps 1), which this is with the mean
of all changes; its weight decay is on z, the inner optimizer's here on y."""
among = "all"
every = 1
sends = ["delta"]
keeps = ["phi", "x", "z"]
columnwise = True


def step(theta, phi, x, z, mean_delta, round, *, mu_x=0.9967, mu_y=0.7):
    if round == 1:
        x[:] = z[:] = phi
    z += mean_delta
    x += (1 - mu_x) * (z - x)
    phi[:] = mu_y * x + (1 - mu_y) * z
    theta[:] = phi
