import { useLocation, useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import type { InvitationPreview } from '../../features/people/invitations/shapes'
import { call, setTabWorkspace, ApiError, type Call } from '../client'
import { Button } from '../parts/button'
import { Form, SecretField, TextField } from '../parts/form'
import { RelativeTime } from '../parts/time'
import { queryClient, useSend } from '../queries'
import { useSession } from '../session'
import { SignInFrame, SignInMessage } from './sign-in/frame'
import { SecondFactorPasskey, type SecondFactors } from './sign-in/passkey-button'

/** Accepts an invitation: for signed-in users, for users with an account, and for new users. */
export default function Invite() {
  const code = useLocation({ select: one => one.hash })
  return <Invitation key={code} code={code} />
}

function Invitation({ code }: { code: string }) {
  const [invitation, setInvitation] = useState<InvitationPreview | null>(null)
  const [refused, setRefused] = useState<ApiError | null>(null)
  const session = useSession()
  useEffect(() => {
    call<InvitationPreview>({ method: 'POST', path: '/invitations/preview', body: { code } }).then(setInvitation, setRefused)
  }, [code])
  if (refused) {
    return <SignInMessage title="Invalid invitation" description={refused.message} link="Go to overview" to="/" />
  }
  // Not while it is fetched again after an error response, which would lose what was typed.
  if (!invitation || !session.isFetched) return <SignInFrame title="Invitation">…</SignInFrame>
  // Ignore the cached data of a session that has ended.
  const own = session.error ? undefined : session.data?.user.email
  if (own !== undefined && own !== invitation.email) return <WrongAccount own={own} invited={invitation.email} />
  return <Accept code={code} invitation={invitation} isSignedIn={own !== undefined} />
}

function Accept({ code, invitation, isSignedIn }: { code: string; invitation: InvitationPreview; isSignedIn: boolean }) {
  const navigate = useNavigate()
  /** The request that needs a second factor, and what is possible. */
  const [challenge, setChallenge] = useState<(SecondFactors & { request: Call }) | null>(null)
  const accept = useSend<{ workspace_id: string }>({
    quiet: true,
    onSuccess: session => {
      setTabWorkspace(session.workspace_id)
      queryClient.clear()
      void navigate({ to: '/', replace: true })
    },
  })
  const send = async (request: Call) => {
    try {
      await accept.mutateAsync(request)
    } catch (error) {
      if (error instanceof ApiError && error.code === 'second_factor_required') {
        const { methods, passkey_options: passkeyOptions } = error.body
        return setChallenge({ request, methods: methods as string[], passkeyOptions })
      }
      throw error
    }
  }
  return (
    <SignInFrame
      title={`Join ${invitation.workspace}`}
      description={
        <>
          {invitation.email} was invited with the role {invitation.role}. The invitation expires{' '}
          <RelativeTime at={invitation.expires_at} />.
        </>
      }
    >
      <Form
        plain
        initial={{ name: '', password: '', second_factor_code: '' }}
        call={values => ({
          method: 'POST',
          path: '/invitations/accept',
          body: isSignedIn
            ? { code }
            : {
                code,
                name: values.name || invitation.email,
                password: values.password,
                ...(challenge && { second_factor_code: values.second_factor_code }),
              },
        })}
        send={send}
        submitLabel="Join workspace"
      >
        {!isSignedIn && (
          <>
            {invitation.allows_sign_up && (
              <TextField
                name="name"
                label="Your name"
                hint="Only needed if you don’t have an account yet."
                autoComplete="name"
                autoFocus
              />
            )}
            <SecretField
              name="password"
              label="Password"
              autoComplete="current-password"
              hint={
                invitation.allows_sign_up
                  ? 'If you already have an account, enter its password. Otherwise, choose a new one with at least 10 characters.'
                  : 'The password of your account.'
              }
            />
            {challenge && (
              <TextField
                name="second_factor_code"
                label="Code"
                autoComplete="one-time-code"
                mono
                hint="From your authenticator app, or a recovery code."
              />
            )}
          </>
        )}
      </Form>
      {challenge && (
        <SecondFactorPasskey
          factors={challenge}
          send={passkey => {
            const { request } = challenge
            return accept.mutateAsync({ ...request, body: { ...(request.body as object), second_factor_passkey: passkey } })
          }}
        />
      )}
    </SignInFrame>
  )
}

function WrongAccount({ own, invited }: { own: string; invited: string }) {
  const session = useSession()
  const signOut = useSend({ onSuccess: () => void session.refetch() })
  return (
    <SignInFrame title="Wrong account" description={`You are signed in as ${own}, but the invitation is for ${invited}.`}>
      <Button className="w-full" kind="primary" onClick={() => signOut.mutate({ method: 'DELETE', path: '/sessions' })}>
        Sign out and continue
      </Button>
    </SignInFrame>
  )
}
