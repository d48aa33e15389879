import { canonicalJson } from '../../../core/canonical-json'
import { sha256Hex } from '../../../core/crypto'
import { rdataOfText, textOf } from '../../../core/dns/rdata'
import type { Op, ProviderRrset, RrsetOptions } from '../providers/provider'
import { valueOfRdata } from '../record-values'
import type { WantedRrset, WantedValue } from '../rrset-rules'
import { builtin } from '../zone-shapes'

/** An rrset in a plan, its values as text with absolute names. */
export interface PlannedForm {
  /** Seconds. */
  ttl: number
  values: string[]
  options?: RrsetOptions
}

/** One step of a plan as it is kept and shown. */
export interface PlannedOp {
  action: Op['action']
  name: string
  type: string
  before: PlannedForm | null
  after: PlannedForm | null
}

/** What a plan would do in one place. */
export interface PlannedTarget {
  /** Null where it is the zone as it is kept here. */
  target_id: string | null
  /** Null where it is the zone as it is kept here, and the hub does not serve it. */
  provider_id: string | null
  /** Of the last reading, which the plan was worked out from; null for what is kept here. */
  observed_hash: string | null
  /** Over what all of its steps lead to, in any order. */
  ops_hash: string
  op_count: number
  /** The first ones. */
  ops: PlannedOp[]
}

/** Steps that a plan keeps and shows of each target. */
export const mostOpsShown = 1000

export const plannedForm = ({ ttl, type, values, options }: ProviderRrset): PlannedForm => ({
  ttl,
  values: values.map(value => textOf(type, value)),
  ...(options && { options }),
})

export const plannedOp = ({ action, name, type, before, after }: Op): PlannedOp => ({
  action,
  name,
  type,
  before: before && plannedForm(before),
  after: after && plannedForm(after),
})

/** The steps of a plan in one place. @param at of the zone as it is kept here: {@link plannedHere} */
export const plannedOps = (
  ops: readonly PlannedOp[],
  at: Pick<PlannedTarget, 'target_id' | 'provider_id' | 'observed_hash'>,
): PlannedTarget => ({
  ...at,
  ops_hash: opsHash(ops),
  op_count: ops.length,
  ops: ops.slice(0, mostOpsShown),
})

/** The zone as it is kept here, as a place of a plan: the hub is a provider of those alone that it serves. */
export const plannedHere = ({ isServed }: { isServed: boolean }) => ({
  target_id: null,
  provider_id: isServed ? builtin : null,
  observed_hash: null,
})

/** Over what steps lead to: the same for any order of them and of their values. */
export function opsHash(ops: readonly PlannedOp[]): string {
  const told = ops.map(({ action, name, type, after }) =>
    canonicalJson([
      action,
      name,
      type,
      after && { ttl: after.ttl, values: after.values.toSorted(), proxied: after.options?.proxied ?? null },
    ]),
  )
  return sha256Hex(told.sort().join('\n'))
}

/** An edit of a zone in a form that JSON can hold: values as text, with what else an edit says of an rrset as it is. */
export type KeptEdit = Omit<WantedRrset, 'values'> & { values: Pick<WantedValue, 'content' | 'keep' | 'pointer'>[] }

export const keptEdit = (wanted: WantedRrset): KeptEdit => ({
  ...wanted,
  values: wanted.values.map(({ content, keep, pointer }) => ({ content, ...(keep && { keep }), pointer })),
})

export const wantedOfEdit = (edit: KeptEdit): WantedRrset => ({
  ...edit,
  values: edit.values.map(({ content, ...rest }) => ({
    ...valueOfRdata(edit.type, rdataOfText(edit.type, content, null)),
    ...rest,
  })),
})
