import { TriangleAlert } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { useQueryClient } from '@tanstack/react-query'
import type { ActionView } from '../../../features/actions/shapes'
import type { FirewallRulesPreview } from '../../../features/servers/firewalls/shapes'
import { ApiError, call, type Call } from '../../client'
import { Form, TextField, type Values } from '../../parts/form'
import { labelOf } from '../../parts/labels'
import { toast } from '../../parts/toast'
import { invalidatePath } from '../../queries'
import { invalidates } from './firewall-text'

type Reasons = FirewallRulesPreview['blocked']

interface GuardedFormProps<Result> {
  initial: Values
  callFor(values: Values): Call
  submitLabel: string
  /** Label of the button that overrides safety checks. */
  overrideLabel: string
  /** Reasons that a preview found. Without one, they are those of the last response. */
  blocked?: Reasons | null
  onCancel(): void
  /** Called with the action that was started, or with what was saved. */
  onStart(result: Result): void
  /** Shown when it was sent. */
  title?: string
  /** Values of a new resource. Advanced settings that differ from them are shown. */
  defaults?: Values
  /** API paths to refetch, apart from those that change with a firewall. */
  more?: readonly string[]
  children: ReactNode
}

/** A form for a change of a firewall. Safety checks that block it are shown, and can be overridden with a note. */
export function GuardedForm<Result = ActionView>({
  initial,
  callFor,
  submitLabel,
  overrideLabel,
  blocked,
  onCancel,
  onStart,
  title = 'Change started',
  defaults,
  more = [],
  children,
}: GuardedFormProps<Result>) {
  const client = useQueryClient()
  const [found, setFound] = useState<Reasons>([])
  const reasons = blocked ?? found
  const isBlocked = reasons.length > 0
  return (
    <Form<Result>
      initial={{ note: '', ...initial }}
      {...(defaults && { defaults: { note: '', ...defaults } })}
      call={({ note: reason, ...values }) => {
        const request = callFor(values)
        const allowed = isBlocked ? { allow: reasons.map(one => one.code) } : {}
        const note = reason === '' ? {} : { note: reason }
        return { ...request, body: { ...(request.body as object), ...allowed, ...note } }
      }}
      send={async request => {
        try {
          const result = await call<Result>(request)
          await Promise.all([...invalidates, ...more].map(path => invalidatePath(client, path)))
          toast.success(title)
          onStart(result)
        } catch (error) {
          if (error instanceof ApiError && error.code === 'plan_blocked') setFound(error.body.reasons as Reasons)
          throw error
        }
      }}
      danger={isBlocked}
      submitLabel={isBlocked ? overrideLabel : submitLabel}
      onCancel={onCancel}
    >
      {children}
      {isBlocked && <GuardReasons reasons={reasons} />}
      {isBlocked && (
        <TextField
          name="note"
          label="Reason for the override"
          hint="Why it is safe to override the checks above. Stored in the history and the audit log."
        />
      )}
    </Form>
  )
}

const GuardReasons = ({ reasons }: { reasons: Reasons }) => (
  <div role="alert" className="rounded-md bg-warn-soft p-3 text-warn">
    <p className="flex items-center gap-2 font-medium">
      <TriangleAlert className="size-4 shrink-0" aria-hidden />
      Blocked by safety checks
    </p>
    <ul className="mt-2 flex flex-col gap-2 pl-6">
      {reasons.map(one => (
        <li key={one.code} className="wrap-anywhere">
          <span className="font-medium">{labelOf(one.code)}:</span> {one.detail}
        </li>
      ))}
    </ul>
    <a href="/docs/firewalls#safety-checks" className="mt-2 ml-6 inline-block underline">
      About safety checks
    </a>
  </div>
)
