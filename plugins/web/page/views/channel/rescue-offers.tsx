/** Offers to download the rest of channels whose videos begin to disappear. This module is loaded if there are any. */
import { Download } from 'lucide'
import { Button } from '../../parts/button.tsx'
import { say } from '../../parts/toast.ts'
import { get, post, remove } from '../../server/api.ts'
import { under } from '../../server/base.ts'
import type { Rescue } from '../../server/records.ts'
import { useLoad } from '../../stores/load.ts'
import { toBytes } from '../../texts/format.ts'
import { t } from '../../texts/lookup.ts'

export default function Offers({ channel: only }: { channel?: string | undefined }) {
  const load = useLoad<Rescue[]>('rescues', (signal) => get('/api/rescue/', {}, signal))
  const shown = load.now.value.value?.filter(({ channel }) => only === undefined || channel === only) ?? []
  const answer = async (ask: Promise<unknown>) => {
    await ask
    await load.reload()
  }
  return (
    <>
      {shown.map(({ channel, name, lost, videos, bytes }) => (
        <div class="notice rescue" key={channel}>
          <span>
            <a href={under(`/channel/${channel}/`)} dir="auto">
              {name}
            </a>
            : {t('rescue.lost', { count: lost })}{' '}
            {bytes > 0
              ? t('rescue.rest', { count: videos, size: toBytes(bytes) })
              : t('rescue.restOfUnknownSize', { count: videos })}
          </span>
          <Button kind="quiet" onClick={() => answer(remove(`/api/rescue/${channel}/`))}>
            {t('rescue.decline')}
          </Button>
          <Button icon={Download} kind="main" onClick={() => answer(rescue(channel))}>
            {t('rescue.do')}
          </Button>
        </div>
      ))}
    </>
  )
}

export async function rescue(channel: string): Promise<void> {
  await post(`/api/rescue/${channel}/`)
  say(t('rescue.begun'))
}
