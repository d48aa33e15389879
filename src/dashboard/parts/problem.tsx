import { TextWithCode } from './text-with-code'
import { CircleX } from 'lucide-react'
import type { ApiError } from '../client'
import { Button } from './button'

/** Shows an API error, with a link to its description in the handbook. */
export const Problem = ({ error, onRetry }: { error: ApiError; onRetry?: () => void }) => (
  <div role="alert" className="flex items-start gap-3 rounded-lg border border-line bg-bad-soft p-4 text-bad">
    <CircleX className="mt-0.5 size-4 shrink-0" aria-hidden />
    <div className="min-w-0 grow wrap-anywhere">
      <p>
        <TextWithCode text={error.message} />
      </p>
      {error.errors.length > 0 && (
        <ul className="mt-1 list-disc pl-5">
          {error.errors.map(one => (
            <li key={one.pointer + one.code}>
              <code className="font-mono text-[13px]">{one.pointer.replace(/^#\/?/, '')}</code> <TextWithCode text={one.detail} />
            </li>
          ))}
        </ul>
      )}
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

/** The error of an action, with a link to its description in the handbook. */
export const ErrorDetail = ({ detail, code, type }: { detail: string; code: string; type: string }) => (
  <>
    {detail}{' '}
    <a className="underline" href={type}>
      {code}
    </a>
  </>
)
