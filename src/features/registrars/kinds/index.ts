import type { RegistrarKind } from '../registrar'
import { epp } from './epp/epp'
import { porkbun } from './porkbun'

/** All kinds of registrars, in display order. */
export const registrarKinds: readonly RegistrarKind[] = [porkbun, epp]

export const registrarKindOf = (kind: string): RegistrarKind | undefined => registrarKinds.find(one => one.kind === kind)
