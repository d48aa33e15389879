import { TextWithCode } from './text-with-code'
import { CircleX } from 'lucide-react'
import type { FieldProblem } from '../../core/problem'
import type { ApiError } from '../client'
import { Button } from './button'
import { errorText } from './field-errors'

/** Shows an API error, with a link to its description in the handbook. */
export function Problem({ error, onRetry }: { error: ApiError; onRetry?: () => void }) {
  // The message repeats the first of the errors.
  const isListed = error.code === 'validation_failed' && error.errors.length > 0
  return (
    <div role="alert" className="flex items-start gap-3 rounded-lg border border-line bg-bad-soft p-4 text-bad">
      <CircleX className="mt-0.5 size-4 shrink-0" aria-hidden />
      <div className="min-w-0 grow wrap-anywhere">
        {!isListed && (
          <p>
            <TextWithCode text={error.message} />
          </p>
        )}
        {error.errors.map(one => (
          <p key={one.pointer + one.code}>
            <TextWithCode text={problemText(one)} />
          </p>
        ))}
        {error.status > 0 && (
          <p className="mt-1 text-[13px]">
            <a className="underline" href={`/problems/${error.code}`}>
              {error.code}
            </a>
            {error.requestId && ` · ${error.requestId}`}
          </p>
        )}
      </div>
      {onRetry && (
        <Button small onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  )
}

/** An error for people. Within a document or list, with its place. */
function problemText(error: FieldProblem): string {
  const place = error.pointer.replace(/^#\/?(?:operations\/\d+\/body\/)?/, '')
  if (!/\/\d+(?:\/|$)/.test(place)) return errorText(error)
  return `\`${place}\`${/^\p{Lu}/u.test(error.detail) ? ':' : ''} ${error.detail}`
}

/** The error of an action, with a link to its description in the handbook. */
export const ErrorDetail = ({ detail, code, type }: { detail: string; code: string; type: string }) => (
  <>
    {detail}{' '}
    <a className="underline" href={type}>
      {code}
    </a>
  </>
)
