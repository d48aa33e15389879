/**
 * Why a query failed. `unreachable`: no connection. `timeout`: no response in time. `closed`: the server closed the connection early.
 * `invalid_response`: not a DNS message, or it doesn't match the query. `unsigned`: missing or invalid signature. `bad_key`: the server
 * rejected the key or the signature. `refused`: the response has an error code. `incomplete`: a transfer without the complete zone.
 * `too_large`: more data than the limit.
 */
type QueryFailure =
  'unreachable' | 'timeout' | 'closed' | 'invalid_response' | 'unsigned' | 'bad_key' | 'refused' | 'incomplete' | 'too_large'

/** A failed query to a name server. The message is for people and contains no addresses. */
export class QueryFailed extends Error {
  override readonly name = 'QueryFailed'
  constructor(
    readonly failure: QueryFailure,
    message: string,
    /** Whether the server may have received the message, and acted on it. */
    readonly sent: boolean,
    /** RCODE of the response, if there was one. */
    readonly rcode: number | null = null,
  ) {
    super(message)
  }
}
