import { Status } from '../../parts/status'

/** Result of a test message. */
export const TestResult = ({ isSent, response, error }: { isSent: boolean; response: string | null; error: string | null }) => (
  <p className="flex flex-wrap items-baseline gap-2 rounded-md bg-canvas p-3">
    <Status status={isSent ? 'sent' : 'failed'} label={isSent ? 'sent' : 'failed'} />
    <span className="min-w-0 grow wrap-anywhere">{(isSent ? response : error) || 'The response was empty.'}</span>
  </p>
)
