import { Status } from '../../parts/status'

/** What came of a test. */
export const Told = ({ isSent, said, trouble }: { isSent: boolean; said: string | null; trouble: string | null }) => (
  <p className="flex flex-wrap items-baseline gap-2 rounded-md bg-canvas p-3">
    <Status state={isSent ? 'sent' : 'failed'} label={isSent ? 'taken' : 'not taken'} />
    <span className="min-w-0 grow wrap-anywhere">{(isSent ? said : trouble) || 'The other side said nothing.'}</span>
  </p>
)
