import {
  browserSupportsWebAuthn,
  startAuthentication,
  startRegistration,
  type AuthenticationResponseJSON,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  type RegistrationResponseJSON,
} from '@simplewebauthn/browser'

/** Whether the browser can use passkeys here: it offers them in secure contexts alone. */
export const usesPasskeys = (): boolean => isSecureContext && browserSupportsWebAuthn()

/** Asks the browser for a passkey. @throws Error in words, also when the person called it off */
export async function withPasskey(options: unknown): Promise<AuthenticationResponseJSON> {
  try {
    return await startAuthentication({ optionsJSON: options as PublicKeyCredentialRequestOptionsJSON })
  } catch (error) {
    throw inWords(error)
  }
}

/** Lets the browser make a passkey. @throws Error in words, also when the person called it off */
export async function makePasskey(options: unknown): Promise<RegistrationResponseJSON> {
  try {
    return await startRegistration({ optionsJSON: options as PublicKeyCredentialCreationOptionsJSON })
  } catch (error) {
    throw inWords(error)
  }
}

function inWords(error: unknown): Error {
  const name = error instanceof Error ? error.name : ''
  if (name === 'NotAllowedError' || name === 'AbortError') return new Error('It was called off, or took too long.')
  if (name === 'InvalidStateError') return new Error('This device has a passkey for this login already.')
  return error instanceof Error ? error : new Error(String(error))
}
