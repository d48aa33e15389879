/**
 * `sent`: on the way. `applied`: in effect, but the host takes it back unless it is confirmed. `confirmed`: in effect, and the host
 * keeps it. `reverted`: the host took it back. `failed`: the host did not accept it. `outdated`: to be sent again.
 */
export const hostStates = ['sent', 'applied', 'confirmed', 'reverted', 'failed', 'outdated'] as const
