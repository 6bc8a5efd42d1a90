/** Large keys for a PIN: for fingers, for the arrows of a remote control, and for number keys. */

import { Check, Delete } from 'lucide'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useKeys } from '../../browser/keys.ts'
import { Avatar } from '../../parts/avatar.tsx'
import { Button } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Refused } from '../../parts/states.tsx'
import { toFailure } from '../../server/api.ts'
import type { DeviceAccount } from '../../server/records.ts'
import { t } from '../../texts/lookup.ts'
import { moveFocus } from './move-focus.ts'

export const SHORTEST_PIN = 4
export const LONGEST_PIN = 8
const COLUMNS = 3
const DIGITS = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '0']

export function PinPad({
  account,
  onEnter,
  onBack,
  onPassword,
  onForget,
}: {
  account: DeviceAccount
  /** @throws Failure */
  onEnter: (pin: string) => Promise<void>
  onBack: () => void
  onPassword: () => void
  onForget: () => void
}) {
  const [pin, setPin] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [wrong, setWrong] = useState<string>()
  const box = useRef<HTMLDivElement>(null)
  const enter = useRef<HTMLButtonElement>(null)
  useLayoutEffect(() => box.current!.querySelector('button')!.focus(), [])

  const press = (digit: string) => {
    setWrong(undefined)
    setPin((before) => (before + digit).slice(0, LONGEST_PIN))
  }
  const erase = () => setPin((before) => before.slice(0, -1))
  const submit = async () => {
    if (isBusy || pin.length < SHORTEST_PIN) return
    setBusy(true)
    try {
      await onEnter(pin)
    } catch (error) {
      const { message, body } = toFailure(error)
      setWrong(body['non_field_errors'] ? t('login.pin.wrong') : message)
      setPin('')
    }
    setBusy(false)
  }
  // Enter is then for the whole PIN, not once more for the key that has the focus.
  const typed = (digit: string) => () => (press(digit), enter.current!.focus())
  useKeys({ ...Object.fromEntries(DIGITS.map((digit) => [digit, typed(digit)])), Backspace: erase, Escape: onBack })

  const key = (digit: string) => (
    <button type="button" class="pin-key" key={digit} onClick={() => press(digit)}>
      {digit}
    </button>
  )
  return (
    <div class="who" ref={box} onKeyDown={(event) => moveFocus(event, box.current!, COLUMNS)}>
      <Avatar of={account} by="device" />
      <h2>{t('login.pin', { name: account.username })}</h2>
      <p class="pin-digits" role="status" aria-label={t('login.pin.digits', { count: pin.length })}>
        {'●'.repeat(pin.length)}
      </p>
      {wrong && <Refused>{wrong}</Refused>}
      <div class="pin-pad">
        {DIGITS.slice(0, -1).map(key)}
        <button type="button" class="pin-key" aria-label={t('login.pin.erase')} onClick={erase}>
          <Icon node={Delete} />
        </button>
        {key('0')}
        <button
          ref={enter}
          type="button"
          class="pin-key main"
          aria-label={t('login.submit')}
          aria-disabled={isBusy || pin.length < SHORTEST_PIN}
          onClick={() => void submit()}
        >
          <Icon node={Check} />
        </button>
      </div>
      <div class="ways">
        <Button kind="quiet" onClick={onBack}>
          {t('login.back')}
        </Button>
        <Button kind="quiet" onClick={onPassword}>
          {t('login.usePassword')}
        </Button>
        <Button kind="quiet" onClick={onForget}>
          {t('login.forget')}
        </Button>
      </div>
    </div>
  )
}
