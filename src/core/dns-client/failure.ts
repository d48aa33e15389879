/**
 * Why a server gave no answer that can be used. `unreachable`: no connection came about. `timeout`: none in time. `closed`: it hung up
 * before the end. `invalid_answer`: what came is no DNS message, or does not belong to the question. `unsigned`: the answer is not signed
 * with the key, or wrongly. `bad_key`: the server refuses the key or the signature. `refused`: it answered with a code that is an
 * error. `incomplete`: a transfer that is not a whole zone. `too_large`: more than was asked for at most.
 */
export type AskFailure =
  'unreachable' | 'timeout' | 'closed' | 'invalid_answer' | 'unsigned' | 'bad_key' | 'refused' | 'incomplete' | 'too_large'

/** A question to a name server that came to nothing. The message is for people, and names no address. */
export class AskFailed extends Error {
  override readonly name = 'AskFailed'
  constructor(
    readonly failure: AskFailure,
    message: string,
    /** Whether the server may have got the message, and acted on it. */
    readonly sent: boolean,
    /** The code of its answer, where it gave one. */
    readonly rcode: number | null = null,
  ) {
    super(message)
  }
}
