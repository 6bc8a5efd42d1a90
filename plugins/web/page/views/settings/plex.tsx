/** The metadata provider for Plex: its address, to copy and to revoke. */
import { Copy, Plus, Trash } from 'lucide'
import { Button } from '../../parts/button.tsx'
import { copyText } from '../../parts/copy-text.ts'
import { confirm } from '../../parts/dialog.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { say } from '../../parts/toast.ts'
import { get, post, remove } from '../../server/api.ts'
import type { MetadataProvider } from '../../server/records.ts'
import { useLoad } from '../../stores/load.ts'
import { t } from '../../texts/lookup.ts'
import { Group } from './option.tsx'

export function PlexProvider() {
  const provider = useLoad<MetadataProvider>('settings/plex', (signal) => get('/api/plex/', {}, signal))
  const make = async () => {
    await post('/api/plex/', {})
    await provider.reload()
  }
  const end = async () => {
    const isSure = await confirm({
      title: t('settings.plex.end.title'),
      text: <p>{t('settings.plex.end.text')}</p>,
      action: t('settings.plex.end'),
      isDangerous: true,
    })
    if (!isSure) return
    await remove('/api/plex/')
    say(t('settings.plex.ended'))
    await provider.reload()
  }
  const name = t('settings.plex.title')
  return (
    <Group title={name} hint={t('settings.plex.lead')}>
      <Loaded from={provider}>
        {({ url }) =>
          url === null ? (
            <div class="option-form">
              <div class="buttons">
                <Button icon={Plus} of={name} onClick={make}>
                  {t('settings.plex.make')}
                </Button>
              </div>
            </div>
          ) : (
            <div class="option-form">
              <p class="hint">{t('settings.plex.how')}</p>
              <output class="code-block" dir="ltr">
                {url}
              </output>
              <div class="buttons">
                <Button kind="main" icon={Copy} of={name} onClick={() => copyText(url)}>
                  {t('settings.plex.copy')}
                </Button>
                <Button icon={Trash} of={name} onClick={end}>
                  {t('settings.plex.end')}
                </Button>
              </div>
            </div>
          )
        }
      </Loaded>
    </Group>
  )
}
