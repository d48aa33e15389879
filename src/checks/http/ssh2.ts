import type * as Ssh2 from 'ssh2'

/**
 * The client of SSH (RFC 4253), loaded when the first tunnel wants it: that takes a tenth of a second and some 27 MB, and most hubs
 * have no tunnels.
 */
export const ssh2 = (): typeof Ssh2 => require('ssh2')
