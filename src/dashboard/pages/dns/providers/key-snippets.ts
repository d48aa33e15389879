import type { TsigKeyView } from '../../../../features/dns/transfers/shapes'

/** A new key with its secret. */
export type NewKey = TsigKeyView & { secret: string }

/** Configuration of a key, by server. */
export const keySnippets = ({ name, algorithm, secret }: NewKey): (readonly [server: string, text: string])[] => [
  ['BIND', `key "${name}" {\n  algorithm ${algorithm};\n  secret "${secret}";\n};`],
  ['Knot DNS', `key:\n  - id: ${name}\n    algorithm: ${algorithm}\n    secret: ${secret}`],
  ['NSD', `key:\n  name: "${name}"\n  algorithm: ${algorithm}\n  secret: "${secret}"`],
  ['PowerDNS', `pdnsutil import-tsig-key ${name} ${algorithm} '${secret}'`],
]
