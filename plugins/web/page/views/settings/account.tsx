/** One's own account: password, PIN, authenticator app, tokens for programs, signing out. */
import { Copy, Eye, LogOut, RotateCw } from 'lucide'
import { useState } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { Refused } from '../../parts/states.tsx'
import { say, sayFailure } from '../../parts/toast.tsx'
import { type Failure, get, post, remove, toFailure } from '../../server/api.ts'
import type { Account, TokenReply } from '../../server/records.ts'
import { account, roleOf, sessionKnown, signOut } from '../../stores/session.ts'
import { t } from '../../texts/lookup.ts'
import { LONGEST_PIN, SHORTEST_PIN } from '../login/pin-pad.tsx'
import { AccessTokens } from './access-tokens.tsx'
import { copyText } from './copy-text.ts'
import { Group } from './option.tsx'
import { OptionForm } from './option-form.tsx'
import { OwnPicture } from './own-picture.tsx'
import { ProviderOfOwn } from './provider-link.tsx'
import { Sessions } from './sessions.tsx'
import { TotpOfOwn } from './totp.tsx'

export const SHORTEST_PASSWORD = 12

export function AccountSection() {
  const own = account.value
  return (
    <>
      <div class="settings-panel">
        <div class="option">
          <div class="option-words">
            <strong>{own?.username}</strong>
            <p class="hint">{own && t(`settings.role.${roleOf(own)}`)}</p>
          </div>
          <Button icon={LogOut} onClick={() => void signOut().catch(sayFailure)}>
            {t('account.signOut')}
          </Button>
        </div>
      </div>
      <OwnPicture />
      <Password />
      <PinOfOwn />
      <TotpOfOwn />
      <ProviderOfOwn />
      <Sessions />
      <AccessTokens />
      <Token />
    </>
  )
}

function Password() {
  const [current, setCurrent] = useState('')
  const [fresh, setFresh] = useState('')
  const [isTried, setTried] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState<Failure>()
  const missing = (value: string) => (isTried && value === '' ? t('form.required') : undefined)
  const tooShort =
    isTried && fresh !== '' && fresh.length < SHORTEST_PASSWORD
      ? t('settings.password.short', { count: SHORTEST_PASSWORD })
      : undefined

  const submit = async (event: Event) => {
    event.preventDefault()
    setTried(true)
    setFailure(undefined)
    if (current === '' || fresh.length < SHORTEST_PASSWORD) return
    setBusy(true)
    try {
      await sessionKnown()
      await post(`/api/user/${account.value!.id}/`, { password: fresh, current_password: current })
      setCurrent('')
      setFresh('')
      setTried(false)
      say(t('settings.password.changed'))
    } catch (error) {
      setFailure(toFailure(error))
    }
    setBusy(false)
  }

  const ofField = failure?.fields['current_password']
  return (
    <Group title={t('settings.password')} hint={t('settings.password.hint')}>
      <form class="option-form" onSubmit={submit} noValidate>
        {failure && !ofField && !failure.fields['password'] && <Refused>{failure.message}</Refused>}
        <input
          type="text"
          name="username"
          autocomplete="username"
          value={account.value?.username ?? ''}
          readOnly
          hidden
        />
        <Field
          label={t('settings.password.current')}
          type="password"
          autocomplete="current-password"
          value={current}
          onInput={setCurrent}
          isRequired
          error={missing(current) ?? (ofField && t('settings.password.wrong'))}
        />
        <Field
          label={t('settings.password.new')}
          type="password"
          autocomplete="new-password"
          value={fresh}
          onInput={setFresh}
          isRequired
          error={missing(fresh) ?? tooShort ?? failure?.fields['password']}
          hint={t('settings.password.least', { count: SHORTEST_PASSWORD })}
        />
        <div>
          <Button kind="main" type="submit" isBusy={isBusy}>
            {t('settings.password.change')}
          </Button>
        </div>
      </form>
    </Group>
  )
}

function PinOfOwn() {
  const [password, setPassword] = useState('')
  const [pin, setPin] = useState('')
  const [tried, setTried] = useState<'set' | 'remove'>()
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState<Failure>()
  const isPin = /^[0-9]+$/.test(pin) && pin.length >= SHORTEST_PIN && pin.length <= LONGEST_PIN

  const save = async (what: 'set' | 'remove') => {
    setTried(what)
    setFailure(undefined)
    if (password === '' || (what === 'set' && !isPin)) return
    setBusy(true)
    try {
      await sessionKnown()
      const change = { pin: what === 'set' ? pin : null, current_password: password }
      account.value = await post<Account>(`/api/user/${account.value!.id}/`, change)
      setPassword('')
      setPin('')
      setTried(undefined)
      say(t(what === 'set' ? 'settings.pin.isSet' : 'settings.pin.removed'))
    } catch (error) {
      setFailure(toFailure(error))
    }
    setBusy(false)
  }

  const ofPassword = failure?.fields['current_password']
  return (
    <Group title={t('settings.pin')} hint={t('settings.pin.hint')}>
      <OptionForm submit={() => save('set')}>
        {failure && !ofPassword && <Refused>{failure.message}</Refused>}
        <Field
          label={t('settings.pin.password')}
          type="password"
          autocomplete="current-password"
          value={password}
          onInput={setPassword}
          isRequired
          error={tried && password === '' ? t('form.required') : ofPassword && t('settings.password.wrong')}
        />
        <Field
          label={t('settings.pin.new')}
          type="password"
          autocomplete="off"
          value={pin}
          onInput={setPin}
          error={tried === 'set' && !isPin ? t('settings.pin.short') : undefined}
          hint={t('settings.pin.digits')}
        />
        <div class="buttons">
          <Button kind="main" type="submit" isBusy={isBusy}>
            {t('settings.pin.set')}
          </Button>
          {account.value?.has_pin && (
            <Button isBusy={isBusy} onClick={() => void save('remove')}>
              {t('settings.pin.remove')}
            </Button>
          )}
        </div>
      </OptionForm>
    </Group>
  )
}

function Token() {
  const [token, setToken] = useState<string>()
  const show = async () => setToken((await get<TokenReply>('/api/token/')).token)
  const renew = async () => {
    if (
      !(await confirm({
        title: t('settings.token.renew.title'),
        text: <p>{t('settings.token.renew.text')}</p>,
        action: t('settings.token.renew'),
      }))
    )
      return
    await remove('/api/token/')
    await show()
    say(t('settings.token.renewed'))
  }
  return (
    <Group title={t('settings.token')} hint={t('settings.token.hint')}>
      <div class="option-form">
        {token && <output class="code-block">{token}</output>}
        <div class="buttons">
          {token === undefined ? (
            <Button icon={Eye} onClick={() => void show().catch(sayFailure)}>
              {t('settings.token.show')}
            </Button>
          ) : (
            <Button icon={Copy} onClick={() => void copyText(token)}>
              {t('settings.copy')}
            </Button>
          )}
          <Button icon={RotateCw} onClick={() => void renew().catch(sayFailure)}>
            {t('settings.token.renew')}
          </Button>
        </div>
      </div>
    </Group>
  )
}
