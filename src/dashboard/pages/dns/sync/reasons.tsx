import { TriangleAlert } from 'lucide-react'
import type { BlockedView } from '../../../../features/dns/sync/sync-shapes'
import { wordsOf } from '../../../parts/status'

/** Why something is held back, guard by guard, with what it is about. */
export const Reasons = ({ reasons }: { reasons: BlockedView['reasons'] }) => (
  <div className="rounded-md bg-warn-soft p-3 text-warn">
    <p className="flex items-center gap-2 font-medium">
      <TriangleAlert className="size-4 shrink-0" aria-hidden />
      Held back, since it looks like a mistake
    </p>
    <ul className="mt-2 flex flex-col gap-2 pl-6">
      {reasons.map(one => (
        <li key={one.code}>
          <span className="font-medium">{wordsOf(one.code)}:</span> {one.detail}
          {one.members.length > 0 && (
            <span className="mt-0.5 block font-mono text-[13px] wrap-anywhere">
              {one.members.map(({ name, type }) => `${name} ${type}`).join(', ')}
            </span>
          )}
        </li>
      ))}
    </ul>
    <a href="/docs/dns-sync#guards" className="mt-2 ml-6 inline-block underline">
      What the guards look for
    </a>
  </div>
)
