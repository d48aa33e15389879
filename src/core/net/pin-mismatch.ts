/** The server presented another certificate than the pinned one. Nothing was sent. */
export class PinMismatch extends Error {
  readonly code = 'PIN_MISMATCH'
  constructor(seen: string, pinned: string) {
    super(
      `The server’s certificate differs from the stored one: its SHA-256 fingerprint is ${seen}, but ${pinned} is expected. Update the fingerprint only if you know why the certificate changed.`,
    )
  }
}
