/** The accounts that may sign in on this device with a PIN, as pictures. */
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Avatar } from '../../parts/avatar.tsx'
import { Button } from '../../parts/button.tsx'
import type { DeviceAccount } from '../../server/records.ts'
import { t } from '../../texts/lookup.ts'
import { moveFocus } from './move-focus.ts'

export function Pictures({
  accounts,
  onChoose,
  onPassword,
  onCode,
}: {
  accounts: readonly DeviceAccount[]
  onChoose: (account: DeviceAccount) => void
  onPassword: () => void
  onCode: (() => void) | undefined
}) {
  const box = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => box.current!.querySelector('button')!.focus(), [])
  return (
    <div class="who" ref={box} onKeyDown={(event) => moveFocus(event, box.current!, 1)}>
      <h2>{t('login.who')}</h2>
      <div class="who-row">
        {accounts.map((account) => (
          <button type="button" key={account.id} class="who-one" onClick={() => onChoose(account)}>
            <Avatar of={account} by="device" />
            <bdi>{account.username}</bdi>
          </button>
        ))}
      </div>
      <div class="ways">
        <Button kind="quiet" onClick={onPassword}>
          {t('login.usePassword')}
        </Button>
        {onCode && (
          <Button kind="quiet" onClick={onCode}>
            {t('login.phone')}
          </Button>
        )}
      </div>
    </div>
  )
}
