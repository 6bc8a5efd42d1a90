/** The account: password, PIN, authenticator app, tokens, sign-out. */
import { Copy, Eye, LogOut, RotateCw } from 'lucide'
import { useState } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { copyText } from '../../parts/copy-text.ts'
import { confirm } from '../../parts/dialog.tsx'
import { Field, OwnPassword } from '../../parts/field.tsx'
import { Form, unlessChanged, useForm } from '../../parts/form.tsx'
import { say } from '../../parts/toast.ts'
import { get, post, remove } from '../../server/api.ts'
import type { Account, TokenReply } from '../../server/records.ts'
import { isThere } from '../../stores/left-out.ts'
import { account, roleOf, sessionKnown, signOut } from '../../stores/session.ts'
import { t } from '../../texts/lookup.ts'
import { LONGEST_PIN, SHORTEST_PIN } from '../login/pin-pad.tsx'
import { AccessTokens } from './access-tokens.tsx'
import { Group } from './option.tsx'
import { OwnPicture } from './own-picture.tsx'
import { Podcasts } from './podcasts.tsx'
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
          <Button icon={LogOut} onClick={signOut}>
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
      {isThere('podcast') && <Podcasts />}
      <AccessTokens />
      <Token />
    </>
  )
}

function Password() {
  const [current, setCurrent] = useState('')
  const [fresh, setFresh] = useState('')
  const missing = (value: string) => value === '' && t('form.required')
  const tooShort = fresh.length < SHORTEST_PASSWORD && t('settings.password.short', { count: SHORTEST_PASSWORD })
  const form = useForm({
    current_password: { wrong: missing(current), refused: t('settings.password.wrong') },
    password: { wrong: missing(fresh) || tooShort },
  })
  const submit = async () => {
    await sessionKnown()
    await post(`/api/user/${account.value!.id}/`, { password: fresh, current_password: current })
    setCurrent(unlessChanged(current, ''))
    setFresh(unlessChanged(fresh, ''))
    say(t('settings.password.changed'))
  }
  return (
    <Group title={t('settings.password')} hint={t('settings.password.hint')}>
      <Form form={form} class="option-form" onSubmit={submit}>
        {form.refusal}
        <input
          type="text"
          name="username"
          autocomplete="username"
          value={account.value?.username ?? ''}
          readOnly
          hidden
        />
        <OwnPassword
          label={t('settings.password.current')}
          value={current}
          onInput={setCurrent}
          error={form.errors.current_password}
        />
        <Field
          label={t('settings.password.new')}
          type="password"
          autocomplete="new-password"
          value={fresh}
          onInput={setFresh}
          isRequired
          error={form.errors.password}
          hint={t('settings.password.least', { count: SHORTEST_PASSWORD })}
        />
        <div>
          <Button kind="main" type="submit">
            {t('settings.password.change')}
          </Button>
        </div>
      </Form>
    </Group>
  )
}

function PinOfOwn() {
  const [password, setPassword] = useState('')
  const [pin, setPin] = useState('')
  const isPin = /^[0-9]+$/.test(pin) && pin.length >= SHORTEST_PIN && pin.length <= LONGEST_PIN
  const form = useForm({
    current_password: { wrong: password === '' && t('form.required'), refused: t('settings.password.wrong') },
    pin: { wrong: !isPin && t('settings.pin.short') },
  })
  const save = async (wanted: string | null) => {
    await sessionKnown()
    const change = { pin: wanted, current_password: password }
    account.value = await post<Account>(`/api/user/${account.value!.id}/`, change)
    setPassword(unlessChanged(password, ''))
    setPin(unlessChanged(pin, ''))
    say(t(wanted === null ? 'settings.pin.removed' : 'settings.pin.isSet'))
  }
  return (
    <Group title={t('settings.pin')} hint={t('settings.pin.hint')}>
      <Form form={form} class="option-form" onSubmit={() => save(pin)}>
        {form.refusal}
        <OwnPassword
          label={t('settings.pin.password')}
          value={password}
          onInput={setPassword}
          error={form.errors.current_password}
        />
        <Field
          label={t('settings.pin.new')}
          type="password"
          autocomplete="off"
          value={pin}
          onInput={setPin}
          error={form.errors.pin}
          hint={t('settings.pin.digits')}
        />
        <div class="buttons">
          <Button kind="main" type="submit">
            {t('settings.pin.set')}
          </Button>
          {account.value?.has_pin && (
            <Button isBusy={form.isBusy} onClick={() => form.run(() => save(null), ['current_password'])}>
              {t('settings.pin.remove')}
            </Button>
          )}
        </div>
      </Form>
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
            <Button icon={Eye} onClick={show}>
              {t('settings.token.show')}
            </Button>
          ) : (
            <Button icon={Copy} onClick={() => copyText(token)}>
              {t('settings.copy')}
            </Button>
          )}
          <Button icon={RotateCw} onClick={renew}>
            {t('settings.token.renew')}
          </Button>
        </div>
      </div>
    </Group>
  )
}
