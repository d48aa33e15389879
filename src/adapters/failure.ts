import { oneLine } from '../core/one-line'

/** Reasons why a call to an outside system failed. A kind of adapter may add its own, such as `zone_not_found`. */
type AdapterFailure = 'unreachable' | 'timeout' | 'unauthorized' | 'throttled' | 'refused' | 'incomplete' | 'invalid_response'

/** A failed call to an outside system. The message is a single line without secrets. */
export class AdapterError<F extends string = AdapterFailure> extends Error {
  override name = 'AdapterError'
  constructor(
    readonly failure: F,
    message: string,
    /** Milliseconds until a retry, if the system reported it. */
    readonly retryAfterMs: number | null = null,
    /** Whether a change may have been applied, because no complete response was received; null if the failure tells. */
    readonly ambiguous: boolean | null = null,
  ) {
    super(oneLine(message))
  }
}

/** Whether a change whose call failed may have been applied anyway, so that the state has to be read again. */
export const mayHaveApplied = ({ failure, ambiguous }: AdapterError<string>): boolean => ambiguous ?? !notApplied.test(failure)

const notApplied = /^(throttled|unauthorized|.*not_found)$/
