import type { RegistrarKind } from '../registrar'
import { cloudflareRegistrar } from './cloudflare'
import { epp } from './epp/epp'
import { gandi } from './gandi'
import { namecheap } from './namecheap'
import { namecom } from './namecom'
import { porkbun } from './porkbun'

/** All kinds of registrars, in display order. */
export const registrarKinds: readonly RegistrarKind[] = [porkbun, cloudflareRegistrar, namecheap, namecom, gandi, epp]

export const registrarKindOf = (kind: string): RegistrarKind | undefined => registrarKinds.find(one => one.kind === kind)
