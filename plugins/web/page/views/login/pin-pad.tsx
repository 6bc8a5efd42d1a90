/** A PIN pad with large buttons, for touch, remote controls, and number keys. */

import { Check, Delete } from 'lucide'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useKeys } from '../../browser/keys.ts'
import { Avatar } from '../../parts/avatar.tsx'
import { Button } from '../../parts/button.tsx'
import { useForm } from '../../parts/form.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Failure, toFailure } from '../../server/api.ts'
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
  onForget: () => Promise<void>
}) {
  const [pin, setPin] = useState('')
  const form = useForm()
  const box = useRef<HTMLDivElement>(null)
  const enter = useRef<HTMLButtonElement>(null)
  useLayoutEffect(() => box.current!.querySelector('button')!.focus(), [])

  const press = (digit: string) => {
    form.clear()
    setPin((before) => (before + digit).slice(0, LONGEST_PIN))
  }
  const erase = () => setPin((before) => before.slice(0, -1))
  const submit = async () => {
    if (pin.length < SHORTEST_PIN) return
    try {
      await onEnter(pin)
    } catch (error) {
      setPin('')
      throw toFailure(error).body['non_field_errors'] ? new Failure(400, { message: t('login.pin.wrong') }) : error
    }
  }
  // The focus moves to the submit button, so that the key Enter submits the PIN instead of pressing a focused digit.
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
      {form.refusal}
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
          aria-disabled={form.isBusy || pin.length < SHORTEST_PIN}
          onClick={() => void form.run(submit)}
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
