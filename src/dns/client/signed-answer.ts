import { RCODE, rcodeName, type Message } from '../message'
import { TSIG_ERROR, type Verdict } from '../tsig'
import { QueryFailed } from './failure'

const errors: Record<number, string> = {
  [TSIG_ERROR.BADSIG]: 'rejected the signature; check the secret of the key (BADSIG)',
  [TSIG_ERROR.BADKEY]: 'does not know a key with this name and algorithm (BADKEY)',
  [TSIG_ERROR.BADTIME]: 'rejected the signature time; its clock differs from the hub’s clock (BADTIME)',
  [TSIG_ERROR.BADTRUNC]: 'rejected the signature length (BADTRUNC)',
}

/**
 * Throws if a response to a signed query is unsigned, or reports a problem with the key. TSIG errors other than BADTIME can't be
 * signed (RFC 8945 section 5.3.2), and not all servers sign refusals, so such responses are accepted as failures.
 * @throws QueryFailed `bad_key`, `refused` or `unsigned`
 */
export function requireSigned({ rcode, tsig }: Message): void {
  if (tsig === null) {
    if (rcode !== RCODE.NOERROR) throw new QueryFailed('refused', rcodeMessage(rcode), true, rcode)
    throw new QueryFailed('unsigned', 'The response is not signed.', true)
  }
  if (tsig.error === 0) return
  throw new QueryFailed('bad_key', `The server ${errors[tsig.error] ?? `rejected the key (${tsig.error})`}.`, true, rcode)
}

/** @throws QueryFailed `unsigned` */
export function requireVerified(verdict: Verdict): asserts verdict is Extract<Verdict, { ok: true }> {
  if (verdict.ok) return
  const late = verdict.error === TSIG_ERROR.BADTIME
  const detail = late
    ? 'has an invalid signature time; the server’s clock differs from the hub’s clock'
    : 'has an invalid signature'
  throw new QueryFailed('unsigned', `The response ${detail}.`, true)
}

const reasons: Record<number, string> = {
  [RCODE.FORMERR]: 'the server could not parse the message',
  [RCODE.SERVFAIL]: 'the server failed',
  [RCODE.NXDOMAIN]: 'the name does not exist',
  [RCODE.NOTIMP]: 'the server does not support this operation',
  [RCODE.REFUSED]: 'the zone does not exist there, or the operation is not allowed',
  [RCODE.NOTAUTH]: 'the server is not authoritative for the zone, or the operation is not allowed',
  [RCODE.NOTZONE]: 'a name is outside the zone',
}

/** Describes an error response. */
export function rcodeMessage(rcode: number): string {
  const reason = reasons[rcode]
  return `The server responded with ${rcodeName(rcode)}${reason ? `: ${reason}` : ''}.`
}
