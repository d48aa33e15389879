import { canonicalJson } from '../../../core/canonical-json'
import { sha256Hex } from '../../../core/crypto'
import { rdataOfText, textOf } from '../../../dns/rdata'
import type { Op, ProviderRrset, RrsetOptions } from '../providers/provider'
import { valueOfRdata } from '../records/values'
import type { WantedRrset, WantedValue } from '../changes/rrset-rules'
import { builtin } from '../zones/shapes'

/** An rrset in a plan. Values are text with absolute names. */
interface PlannedRrset {
  /** Seconds. */
  ttl: number
  values: string[]
  options?: RrsetOptions
}

/** A step of a plan, as stored and shown. */
export interface PlannedOp {
  action: Op['action']
  name: string
  type: string
  before: PlannedRrset | null
  after: PlannedRrset | null
}

/** The steps of a plan at one target. */
export interface PlannedTarget {
  /** Null for the local zone. */
  target_id: string | null
  /** Null for the local zone if the hub doesn't serve it. */
  provider_id: string | null
  /** Hash of the read that the plan is based on; null for the local zone. */
  observed_hash: string | null
  /** Hash over the results of all steps, independent of their order. */
  ops_hash: string
  op_count: number
  /** The first steps. */
  ops: PlannedOp[]
}

/** Maximum number of steps stored and shown per target. */
export const maxOpsShown = 1000

export const plannedRrset = ({ ttl, type, values, options }: ProviderRrset): PlannedRrset => ({
  ttl,
  values: values.map(value => textOf(type, value)),
  ...(options && { options }),
})

export const plannedOp = ({ action, name, type, before, after }: Op): PlannedOp => ({
  action,
  name,
  type,
  before: before && plannedRrset(before),
  after: after && plannedRrset(after),
})

/** Builds the steps at one target. @param at {@link localTarget} for the local zone */
export const plannedOps = (
  ops: readonly PlannedOp[],
  at: Pick<PlannedTarget, 'target_id' | 'provider_id' | 'observed_hash'>,
): PlannedTarget => ({
  ...at,
  ops_hash: opsHash(ops),
  op_count: ops.length,
  ops: ops.slice(0, maxOpsShown),
})

/** The local zone as a target of a plan. Its provider is `builtin` only if the hub serves it. */
export const localTarget = ({ isServed }: { isServed: boolean }) => ({
  target_id: null,
  provider_id: isServed ? builtin : null,
  observed_hash: null,
})

/** Hashes the results of steps, independent of the order of steps and values. */
export function opsHash(ops: readonly PlannedOp[]): string {
  const forms = ops.map(({ action, name, type, after }) =>
    canonicalJson([
      action,
      name,
      type,
      after && { ttl: after.ttl, values: after.values.toSorted(), proxied: after.options?.proxied ?? null },
    ]),
  )
  return sha256Hex(forms.sort().join('\n'))
}

/** An edit of a zone that can be stored as JSON: values are text. */
export type StoredEdit = Omit<WantedRrset, 'values'> & { values: Pick<WantedValue, 'content' | 'keep' | 'pointer'>[] }

export const storedEdit = (wanted: WantedRrset): StoredEdit => ({
  ...wanted,
  values: wanted.values.map(({ content, keep, pointer }) => ({ content, ...(keep && { keep }), pointer })),
})

export const wantedFromEdit = (edit: StoredEdit): WantedRrset => ({
  ...edit,
  values: edit.values.map(({ content, ...rest }) => ({
    ...valueOfRdata(edit.type, rdataOfText(edit.type, content, null)),
    ...rest,
  })),
})
