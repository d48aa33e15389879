import type { Hub } from '../core/hub'
import type { SignInMethods } from './session-shapes'
import { signUpState } from './sign-ups'
import { hasUsers } from './users'

/** What this hub offers to whoever wants to sign in, for the page that does it. */
export async function signInMethods(hub: Hub): Promise<SignInMethods> {
  return { setup_open: !(await hasUsers(hub.read)), sign_up: await signUpState(hub) }
}
