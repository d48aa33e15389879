import { Type } from '@sinclair/typebox'

/** Minimum length of a password. NIST SP 800-63B section 5.1.1.1 requires 8. */
export const minPasswordLength = 10
export const maxPasswordLength = 1000

/** A password that a user chooses. */
export const NewPassword = Type.String({
  minLength: minPasswordLength,
  maxLength: maxPasswordLength,
  description: `At least ${minPasswordLength} characters. Can be neither the email address nor a common password.`,
})
