import { RCODE, rcodeName, type Message } from '../dns/message'
import { TSIG_ERROR, type Verdict } from '../dns/tsig'
import { AskFailed } from './failure'

const errors: Record<number, string> = {
  [TSIG_ERROR.BADSIG]: 'does not accept the signature: the secret of the key is another (BADSIG)',
  [TSIG_ERROR.BADKEY]: 'does not know the key by this name and algorithm (BADKEY)',
  [TSIG_ERROR.BADTIME]: 'does not accept the time of the signature: its clock and that of the hub differ (BADTIME)',
  [TSIG_ERROR.BADTRUNC]: 'does not accept how long the signature is (BADTRUNC)',
}

/**
 * Throws what an answer to a signed question says of the key, and what an answer without signature says. Errors of TSIG other than
 * BADTIME cannot be signed (RFC 8945 5.3.2), nor do all servers sign refusals: such an answer is believed to be one, and no more.
 * @throws AskFailed `bad_key`, `refused` or `unsigned`
 */
export function refuseUnsigned({ rcode, tsig }: Message): void {
  if (tsig === null) {
    if (rcode !== RCODE.NOERROR) throw new AskFailed('refused', refusal(rcode), true, rcode)
    throw new AskFailed('unsigned', 'The answer of the server is not signed.', true)
  }
  if (tsig.error === 0) return
  throw new AskFailed('bad_key', `The server ${errors[tsig.error] ?? `refuses the key (${tsig.error})`}.`, true, rcode)
}

/** @throws AskFailed `unsigned` */
export function refuseUnverified(verdict: Verdict): asserts verdict is Extract<Verdict, { ok: true }> {
  if (verdict.ok) return
  const late = verdict.error === TSIG_ERROR.BADTIME
  const detail = late ? 'is signed at another time than now: its clock and that of the hub differ' : 'is signed wrongly'
  throw new AskFailed('unsigned', `The answer of the server ${detail}.`, true)
}

const reasons: Record<number, string> = {
  [RCODE.FORMERR]: 'it does not understand the message',
  [RCODE.SERVFAIL]: 'it failed',
  [RCODE.NXDOMAIN]: 'it does not know the name',
  [RCODE.NOTIMP]: 'it does not do this',
  [RCODE.REFUSED]: 'it has no such zone, or does not allow this or what would become of it',
  [RCODE.NOTAUTH]: 'it is not responsible for the zone, or does not allow this',
  [RCODE.NOTZONE]: 'a name is outside of the zone',
}

/** A sentence about an answer that is an error. */
export function refusal(rcode: number): string {
  const reason = reasons[rcode]
  return `The server answered ${rcodeName(rcode)}${reason ? `: ${reason}` : ''}.`
}
