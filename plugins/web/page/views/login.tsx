/**
 * The sign-in: by picture and PIN on a known device, otherwise by name and password. Afterwards it returns to the
 * requested address.
 */

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { isSofa } from '../browser/layout.ts'
import { hereNow, navigate, route } from '../browser/router.ts'
import { useTitle } from '../browser/title.ts'
import { Button } from '../parts/button.tsx'
import { Field, Select } from '../parts/field.tsx'
import { Form, useForm } from '../parts/form.tsx'
import { Mark } from '../parts/icon.tsx'
import { sayFailure } from '../parts/toast.ts'
import { get, remove, toFailure } from '../server/api.ts'
import type { DeviceAccount, Forwarded, Page, ProviderName, Video } from '../server/records.ts'
import { chooseForNext, chosenLanguage, languageChoices } from '../stores/language.ts'
import { isThere } from '../stores/left-out.ts'
import { hasLeft, isAdmin, isUnused, readSession, signIn, signInForwarded, signInWithPin } from '../stores/session.ts'
import { t } from '../texts/lookup.ts'
import { ByCode } from './login/code.tsx'
import { Pictures } from './login/pictures.tsx'
import { PinPad } from './login/pin-pad.tsx'
import type { Provider } from './login/provider.tsx'

/** Whether the installation is new: it has no videos, or its first choices are open. */
const isNew = async (): Promise<boolean> =>
  (isAdmin.peek() && !(await get<{ page: { welcomed: boolean } }>('/api/config/')).page.welcomed) ||
  (await get<Page<Video>>('/api/video/')).paginate.total_hits === 0

/** Opens the view that follows the sign-in. */
async function goOn(): Promise<void> {
  const { path } = route.peek()
  if (path === '/login/') navigate('/', { isReplacing: true })
  const isHere = hereNow()
  if ((path === '/' || path === '/login/') && (await isNew()) && isHere()) navigate('/welcome/', { isReplacing: true })
}

const hasCodes = isThere('signincode')

const askDevice = (): Promise<DeviceAccount[]> => get('/api/device/')

/** The button of the provider, whose code is loaded only if there is one. */
async function findProvider() {
  const { name } = await get<ProviderName>('/api/oidc/')
  if (name === null) return undefined
  const { Provider: Button } = await import('./login/provider.tsx')
  return { name, Button }
}

type Way = 'pictures' | 'password' | 'code' | DeviceAccount

export default function Login() {
  const [known, setKnown] = useState<readonly DeviceAccount[]>()
  const [way, setWay] = useState<Way>('pictures')
  const [off, setOff] = useState<DeviceAccount>()
  useTitle(t('login.title'))
  const [forwarded, setForwarded] = useState<Forwarded>()
  const enterForwarded = () => signInForwarded().then(goOn)
  useEffect(() => {
    const take = (found: Forwarded) => {
      // After a sign-out, the page does not sign in again by itself.
      if (found.has_account && !hasLeft()) return void enterForwarded().catch(sayFailure)
      setForwarded(found)
    }
    get<Forwarded>('/api/forwarded/').then(take, () => undefined)
  }, [])
  const showCode = hasCodes ? () => setWay('code') : undefined
  const begin = async () => {
    // Without a reply, the page shows the password form, which reports the problem.
    const found = await askDevice().catch(() => [])
    // Letters are hard to type with a remote control.
    if (found.length === 0) setWay(isSofa.peek() && hasCodes ? 'code' : 'password')
    setKnown(found)
  }
  useEffect(() => void begin(), [])

  const enter = (account: DeviceAccount) => async (pin: string) => {
    try {
      await signInWithPin(account.id, pin)
    } catch (error) {
      const left = await askDevice()
      setKnown(left)
      if (left.some(({ id }) => id === account.id)) throw error
      setOff(account)
      return setWay('password')
    }
    await goOn()
  }
  const forget = async ({ id }: DeviceAccount) => {
    await remove(`/api/device/${id}/`)
    const left = await askDevice()
    setKnown(left)
    setWay(left.length === 0 ? 'password' : 'pictures')
  }

  if (!known) return <main class="login" />
  if (way === 'password')
    return (
      <Password
        forwarded={forwarded?.has_account ? { name: forwarded.name!, enter: enterForwarded } : undefined}
        notice={
          (forwarded?.name && !forwarded.has_account && t('login.forwarded.unknown', { name: forwarded.name })) ||
          (off && t('login.pin.off', { name: off.username }))
        }
        onCode={showCode}
        onBack={known.length === 0 ? undefined : () => setWay('pictures')}
      />
    )
  return (
    <main class="login">
      <h1 class="unseen">{t('app.name')}</h1>
      {way === 'pictures' ? (
        <Pictures accounts={known} onChoose={setWay} onPassword={() => setWay('password')} onCode={showCode} />
      ) : way === 'code' ? (
        <ByCode onEnter={() => readSession().then(goOn)} onPassword={() => setWay('password')} />
      ) : (
        <PinPad
          account={way}
          onEnter={enter(way)}
          onBack={() => setWay('pictures')}
          onPassword={() => setWay('password')}
          onForget={() => forget(way).catch(() => setWay('pictures'))}
        />
      )}
      <Language />
    </main>
  )
}

const Language = () => (
  <Select
    label={t('language.label')}
    isLabelHidden
    value={chosenLanguage()}
    choices={languageChoices()}
    onChange={chooseForNext}
  />
)

function Password({
  notice,
  forwarded,
  onCode,
  onBack,
}: {
  notice: string | undefined
  /** The user that the proxy names. */
  forwarded: { name: string; enter: () => Promise<void> } | undefined
  onCode: (() => void) | undefined
  onBack: (() => void) | undefined
}) {
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const [isRemembered, setRemembered] = useState(true)
  const { asksCode, form, submit } = useSignIn({ name, password, code, isRemembered })
  const box = useRef<HTMLElement>(null)
  const [provider, setProvider] = useState<{ name: string; Button: typeof Provider }>()
  useLayoutEffect(() => box.current!.querySelector('input')!.focus(), [])
  useEffect(() => void findProvider().then(setProvider, () => undefined), [])

  return (
    <main class="login" ref={box}>
      <Form form={form} onSubmit={submit}>
        <div class="brand">
          <Mark size={40} />
          <h1>{t('app.name')}</h1>
        </div>
        {notice && !form.refusal && <p class="notice">{notice}</p>}
        {form.refusal}
        <Field
          label={t('login.name')}
          name="username"
          autocomplete="username"
          value={name}
          onInput={setName}
          isRequired
          error={form.errors.username}
        />
        <Field
          label={t('login.password')}
          name="password"
          type="password"
          autocomplete="current-password"
          value={password}
          onInput={setPassword}
          isRequired
          error={form.errors.password}
        />
        {asksCode && (
          <Field
            label={t('login.code')}
            name="code"
            autocomplete="one-time-code"
            value={code}
            onInput={setCode}
            isRequired
            error={form.errors.code}
            hint={t('login.code.hint')}
          />
        )}
        <label class="check">
          <input
            type="checkbox"
            name="remember_me"
            checked={isRemembered}
            onChange={(event) => setRemembered(event.currentTarget.checked)}
          />
          {t('login.remember')}
        </label>
        <Button kind="main" type="submit">
          {t('login.submit')}
        </Button>
        {forwarded && <Button onClick={forwarded.enter}>{t('login.as', { name: forwarded.name })}</Button>}
        {provider && <provider.Button name={provider.name} isRemembered={isRemembered} />}
        {onCode && (
          <Button kind="quiet" onClick={onCode}>
            {t('login.phone')}
          </Button>
        )}
        {onBack && (
          <Button kind="quiet" onClick={onBack}>
            {t('login.back')}
          </Button>
        )}
        {isUnused.value && <p class="hint">{t('login.first')}</p>}
      </Form>
      <Language />
    </main>
  )
}

function useSignIn(typed: { name: string; password: string; code: string; isRemembered: boolean }) {
  /** Whether to ask for a code, because the server has replied that this account has an authenticator app. */
  const [asksCode, setAsksCode] = useState(false)
  const { name, password, code, isRemembered } = typed
  const missing = (value: string) => ({ wrong: value === '' && t('form.required') })
  const form = useForm({
    username: missing(name),
    password: missing(password),
    code: { wrong: asksCode && code === '' && t('form.required'), refused: true },
  })
  const submit = async () => {
    try {
      await signIn(name, password, asksCode ? code : '', isRemembered)
      await goOn()
    } catch (error) {
      if (asksCode || toFailure(error).fields['code'] === undefined) throw error
      setAsksCode(true)
    }
  }
  return { asksCode, form, submit }
}
