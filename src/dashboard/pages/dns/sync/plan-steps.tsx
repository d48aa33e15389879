import type { PlanView } from '../../../../features/dns/sync/shapes'
import { useProviderNames } from '../provider-names'
import { RrsetDiff, RrsetName } from '../rrset-diff'

/** What a plan does, place by place. */
export function PlanSteps({ plan }: { plan: PlanView }) {
  const nameOf = useProviderNames()
  return plan.targets.map(({ target_id, provider_id, ops, op_count }) => (
    <section key={target_id ?? 'here'} className="min-w-0">
      <h3 className="mb-2 font-semibold">
        {provider_id === null ? 'Kept here' : target_id === null ? 'Kept here and served by the hub' : nameOf(provider_id)}
        <span className="ml-2 font-normal text-muted">{op_count === 1 ? '1 step' : `${op_count.toLocaleString()} steps`}</span>
      </h3>
      <ul className="flex flex-col gap-3">
        {ops.map(one => (
          <li key={`${one.name} ${one.type}`} className="min-w-0">
            <p className="mb-1">
              <RrsetName {...one} />
            </p>
            <RrsetDiff before={one.before} after={one.after} beforeLabel="As it is" afterLabel="As it will be" />
          </li>
        ))}
      </ul>
      {op_count > ops.length && (
        <p className="mt-2 text-muted">
          The first {ops.length.toLocaleString()} of {op_count.toLocaleString()}.
        </p>
      )}
    </section>
  ))
}
