import type { TsigKeyView } from '../../../../features/dns/transfers/shapes'

/** A key with its secret, as it is told when it is made. */
export type WholeKey = TsigKeyView & { secret: string }

/** A key as the configuration of a name server has it, by server. */
export const keySnippets = ({ name, algorithm, secret }: WholeKey): (readonly [server: string, text: string])[] => [
  ['BIND', `key "${name}" {\n  algorithm ${algorithm};\n  secret "${secret}";\n};`],
  ['Knot DNS', `key:\n  - id: ${name}\n    algorithm: ${algorithm}\n    secret: ${secret}`],
  ['NSD', `key:\n  name: "${name}"\n  algorithm: ${algorithm}\n  secret: "${secret}"`],
  ['PowerDNS', `pdnsutil import-tsig-key ${name} ${algorithm} '${secret}'`],
]
