import type { Hub } from '../core/hub'
import { hasMail } from './mails'
import { passkeySite } from './passkey-site'
import type { SignInMethods } from './session-shapes'
import { signUpState } from './sign-ups'
import { hasUsers } from './users'

/** What this hub offers to whoever wants to sign in, for the page that does it. */
export async function signInMethods(hub: Hub): Promise<SignInMethods> {
  const site = passkeySite(hub)
  return {
    setup_open: !(await hasUsers(hub.read)),
    passkeys:
      'rpId' in site
        ? { possible: true, rp_id: site.rpId, origin: site.origin, reason: null }
        : { possible: false, rp_id: null, origin: null, reason: site.reason },
    password_reset_by_mail: hasMail(hub),
    sign_up: await signUpState(hub),
  }
}
