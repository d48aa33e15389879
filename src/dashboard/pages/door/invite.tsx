import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import type { InvitationPreview } from '../../../access/invitation-shapes'
import { call, chooseTabWorkspace, Refused, type Call } from '../../client'
import { Button, LinkButton } from '../../parts/button'
import { Form, SecretField, TextField } from '../../parts/form'
import { Ago } from '../../parts/time'
import { queries, useSend } from '../../queries'
import { useSession } from '../../session'
import { Door } from './frame'

/** The link of an invitation: for who is signed in, for who has a login, and for who has none yet. */
export default function Invite() {
  const code = location.hash.slice(1)
  const [invitation, setInvitation] = useState<InvitationPreview | null>(null)
  const [refused, setRefused] = useState<Refused | null>(null)
  const session = useSession()
  useEffect(() => {
    call<InvitationPreview>({ method: 'POST', path: '/invitations/preview', body: { code } }).then(setInvitation, setRefused)
  }, [code])
  if (refused) {
    return (
      <Door title="This invitation does not open" lead={refused.message}>
        <LinkButton to="/" className="w-full">
          To the overview
        </LinkButton>
      </Door>
    )
  }
  if (!invitation || session.isPending) return <Door title="Invitation">…</Door>
  // What is left of a session that has ended is nobody.
  const own = session.error ? undefined : session.data?.user.email
  if (own !== undefined && own !== invitation.email) return <OtherPerson own={own} meant={invitation.email} />
  return <Accept code={code} invitation={invitation} isSignedIn={own !== undefined} />
}

function Accept({ code, invitation, isSignedIn }: { code: string; invitation: InvitationPreview; isSignedIn: boolean }) {
  const navigate = useNavigate()
  const [needsCode, setNeedsCode] = useState(false)
  const accept = useSend<{ workspace_id: string }>({
    quiet: true,
    onDone: session => {
      chooseTabWorkspace(session.workspace_id)
      queries.clear()
      void navigate({ to: '/', replace: true })
    },
  })
  const send = async (asked: Call) => {
    try {
      await accept.mutateAsync(asked)
    } catch (error) {
      if (error instanceof Refused && error.code === 'second_factor_required') return setNeedsCode(true)
      throw error
    }
  }
  return (
    <Door
      title={`Join ${invitation.workspace}`}
      lead={
        <>
          As {invitation.role}, with the login {invitation.email}. The invitation ends <Ago at={invitation.expires_at} />.
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
                ...(needsCode && { second_factor_code: values.second_factor_code }),
              },
        })}
        send={send}
        pending={accept.isPending}
        action="Join"
      >
        {!isSignedIn && (
          <>
            {invitation.makes_login && <TextField name="name" label="Your name" autoComplete="name" autoFocus />}
            <SecretField
              name="password"
              label="Password"
              autoComplete="current-password"
              hint={
                invitation.makes_login
                  ? 'That of your login, or the one you choose for it: at least 10 characters.'
                  : 'That of your login.'
              }
            />
            {needsCode && (
              <TextField
                name="second_factor_code"
                label="Code"
                autoComplete="one-time-code"
                mono
                hint="Of your program, or a recovery code."
              />
            )}
          </>
        )}
      </Form>
    </Door>
  )
}

function OtherPerson({ own, meant }: { own: string; meant: string }) {
  const session = useSession()
  const out = useSend({ onDone: () => void session.refetch() })
  return (
    <Door title="This is for somebody else" lead={`You are signed in as ${own}, and the invitation is for ${meant}.`}>
      <Button className="w-full" kind="main" onClick={() => out.mutate({ method: 'DELETE', path: '/sessions' })}>
        Sign out and go on
      </Button>
    </Door>
  )
}
