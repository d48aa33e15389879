import type * as Ssh2 from 'ssh2'

/**
 * The SSH client (RFC 4253), loaded with the first connection: loading takes a tenth of a second and about 27 MB, and most hubs don't
 * need it.
 */
export const ssh2 = (): typeof Ssh2 => require('ssh2')
