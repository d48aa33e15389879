import type { PlanView } from '../../../../features/dns/plans/shapes'
import { useProviderNames } from '../provider-names'
import { RrsetChanges } from '../rrset-diff'

/** The changes of a plan, by target. */
export function PlanSteps({ plan }: { plan: PlanView }) {
  const nameOf = useProviderNames()
  return plan.targets.map(({ target_id, provider_id, ops, op_count }) => (
    <section key={target_id ?? 'here'} className="min-w-0">
      <h3 className="mb-2 font-semibold">
        {provider_id === null ? 'Zone' : target_id === null ? 'Built-in name server' : nameOf(provider_id)}
        <span className="ml-2 font-normal text-muted">
          {op_count === 1 ? '1 change' : `${op_count.toLocaleString()} changes`}
        </span>
      </h3>
      <RrsetChanges changes={ops} afterLabel="Planned" />
      {op_count > ops.length && (
        <p className="mt-2 text-muted">
          Showing the first {ops.length.toLocaleString()} of {op_count.toLocaleString()}.
        </p>
      )}
    </section>
  ))
}
