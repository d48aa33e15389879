import type { RegistrarKind } from '../registrar'
import { cloudflareRegistrar } from './cloudflare'
import { epp } from './epp/epp'
import { namecom } from './namecom'
import { porkbun } from './porkbun'

/** All kinds of registrars, in display order. */
export const registrarKinds: readonly RegistrarKind[] = [porkbun, cloudflareRegistrar, namecom, epp]

export const registrarKindOf = (kind: string): RegistrarKind | undefined => registrarKinds.find(one => one.kind === kind)
