import {
  browserSupportsWebAuthn,
  startAuthentication,
  startRegistration,
  type AuthenticationResponseJSON,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  type RegistrationResponseJSON,
} from '@simplewebauthn/browser'

/** Whether the browser supports passkeys here; they require a secure context. */
export const canUsePasskeys = (): boolean => isSecureContext && browserSupportsWebAuthn()

/** Asks the browser for a passkey. @throws Error with a readable message, also if the user cancels */
export async function requestPasskey(options: unknown): Promise<AuthenticationResponseJSON> {
  try {
    return await startAuthentication({ optionsJSON: options as PublicKeyCredentialRequestOptionsJSON })
  } catch (error) {
    throw readableError(error)
  }
}

/** Lets the browser create a passkey. @throws Error with a readable message, also if the user cancels */
export async function createPasskey(options: unknown): Promise<RegistrationResponseJSON> {
  try {
    return await startRegistration({ optionsJSON: options as PublicKeyCredentialCreationOptionsJSON })
  } catch (error) {
    throw readableError(error)
  }
}

function readableError(error: unknown): Error {
  const name = error instanceof Error ? error.name : ''
  if (name === 'NotAllowedError' || name === 'AbortError') return new Error('The request was canceled or timed out.')
  if (name === 'InvalidStateError') return new Error('This device already has a passkey for this account.')
  return error instanceof Error ? error : new Error(String(error))
}
