import { labelOf } from '../../../parts/labels'
import { TriangleAlert } from 'lucide-react'
import type { BlockedView } from '../../../../features/dns/plans/op-shapes'

/** Reasons that block a plan, with the affected rrsets. */
export const Reasons = ({ reasons }: { reasons: BlockedView['reasons'] }) => (
  <div role="alert" className="rounded-md bg-warn-soft p-3 text-warn">
    <p className="flex items-center gap-2 font-medium">
      <TriangleAlert className="size-4 shrink-0" aria-hidden />
      Blocked by safety checks
    </p>
    <ul className="mt-2 flex flex-col gap-2 pl-6">
      {reasons.map(one => (
        <li key={one.code}>
          <span className="font-medium">{labelOf(one.code)}:</span> {one.detail}
          {one.rrsets.length > 0 && (
            <span className="mt-0.5 block font-mono text-[13px] wrap-anywhere">
              {one.rrsets.map(({ name, type }) => `${name} ${type}`).join(', ')}
            </span>
          )}
        </li>
      ))}
    </ul>
    <a href="/docs/dns-sync#safety-checks" className="mt-2 ml-6 inline-block underline">
      About safety checks
    </a>
  </div>
)
