/** A short code and its QR code, until somebody signs in this screen from a phone. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { QrPicture } from '../../parts/qr-picture.tsx'
import { Failed } from '../../parts/states.tsx'
import { ask, type Failure, isAborted, isPassing, toFailure } from '../../server/api.ts'
import type { CodeOutcome, SignInCode } from '../../server/records.ts'
import { t } from '../../texts/lookup.ts'
import { moveFocus } from './move-focus.ts'

type Ended = Exclude<CodeOutcome['state'], 'waiting' | 'signed_in'>

export function ByCode({ onEnter, onPassword }: { onEnter: () => Promise<void>; onPassword: () => void }) {
  const [round, setRound] = useState(0)
  const [code, setCode] = useState<SignInCode>()
  const [ended, setEnded] = useState<Ended>()
  const [failure, setFailure] = useState<Failure>()
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const ending = new AbortController()
    const { signal } = ending
    const follow = async () => {
      const made = await ask<SignInCode>('POST', '/api/sign-in-code/', { signal })
      setCode(made)
      const state = await answerTo(made, signal)
      if (state === 'signed_in') await onEnter()
      else setEnded(state)
    }
    follow().catch((error: unknown) => isAborted(error) || setFailure(toFailure(error)))
    return () => ending.abort()
  }, [round])
  useLayoutEffect(() => box.current!.querySelector('button')!.focus(), [ended, failure])

  const again = () => {
    setCode(undefined)
    setEnded(undefined)
    setFailure(undefined)
    setRound(round + 1)
  }
  return (
    <div class="who" ref={box} onKeyDown={(event) => moveFocus(event, box.current!, 1)}>
      <h2>{t('login.phone')}</h2>
      {failure ? (
        <Failed failure={failure} onRetry={again} />
      ) : ended ? (
        <>
          <p role="status">{t(`login.phone.${ended}`)}</p>
          <Button kind="main" onClick={again}>
            {t('login.phone.again')}
          </Button>
        </>
      ) : (
        <Shown code={code} />
      )}
      <Button kind="quiet" onClick={onPassword}>
        {t('login.usePassword')}
      </Button>
    </div>
  )
}

function Shown({ code }: { code: SignInCode | undefined }) {
  if (!code) return <div class="sign-in-code" />
  const address = code.verification_uri.replace(/^https?:\/\//, '')
  return (
    <>
      <p>{t('login.phone.how', { address })}</p>
      <div class="sign-in-code">
        <QrPicture text={code.verification_uri_complete} label={t('login.phone.picture')} />
        <output dir="ltr">{code.user_code}</output>
      </div>
      <p class="hint">{t('login.phone.waiting', { count: code.expires_in / 60 })}</p>
    </>
  )
}

/** Polls until the code is answered or has expired, also while the server is briefly unreachable. */
async function answerTo({ device_code, interval }: SignInCode, signal: AbortSignal) {
  for (;;) {
    await pause(interval * 1000, signal)
    const body = { device_code }
    const state = await ask<CodeOutcome>('POST', '/login/code/', { body, signal }).then(
      (outcome) => outcome.state,
      (error: unknown) => {
        if (isAborted(error) || !isPassing(error)) throw error
        return 'waiting' as const
      },
    )
    if (state !== 'waiting') return state
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => (clearTimeout(timer), reject(signal.reason)), { once: true })
  })
