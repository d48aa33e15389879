import { cloudflare } from './cloudflare'
import { desec } from './desec'
import { digitalOcean } from './digitalocean'
import { hetzner } from './hetzner'
import { powerDns } from './power-dns'
import type { ProviderKind } from './provider'
import { rfc2136 } from './rfc2136'
import { route53 } from './route53'

/** All kinds of external DNS providers, in display order. */
export const providerKinds: readonly ProviderKind[] = [powerDns, rfc2136, cloudflare, route53, hetzner, digitalOcean, desec]

export const providerKindOf = (kind: string): ProviderKind | undefined => providerKinds.find(one => one.kind === kind)
