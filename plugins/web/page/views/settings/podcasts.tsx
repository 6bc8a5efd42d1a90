/** The account's podcast feeds: their addresses, how to end them, and an OPML file of all. */
import { Copy, Download } from 'lucide'
import { Button } from '../../parts/button.tsx'
import { copyText } from '../../parts/copy-text.ts'
import { Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { endPodcast, readPodcasts } from '../../parts/podcast.tsx'
import { under } from '../../server/base.ts'
import type { Podcast } from '../../server/records.ts'
import { useLoad } from '../../stores/load.ts'
import { t } from '../../texts/lookup.ts'
import { Group } from './option.tsx'

export function Podcasts() {
  const feeds = useLoad<Podcast[]>('settings/podcasts', readPodcasts)
  const end = async (feed: Podcast) => {
    if (await endPodcast(feed)) await feeds.reload()
  }
  return (
    <Group title={t('podcast.all')} hint={t('podcast.all.hint')}>
      <Loaded from={feeds}>
        {(all) =>
          all.length === 0 ? (
            <p class="option-line">{t('podcast.none')}</p>
          ) : (
            <>
              <ul class="settings-rows">
                {all.map((feed) => {
                  const name = feed.title ?? feed.target
                  return (
                    <li key={feed.id}>
                      <div class="row-words">
                        <strong dir="auto">{name}</strong>
                        <p class="meta">{feed.title === null ? t('podcast.gone') : t(`podcast.kind.${feed.kind}`)}</p>
                      </div>
                      <Button icon={Copy} of={name} onClick={() => copyText(feed.url)}>
                        {t('podcast.copy')}
                      </Button>
                      <Button of={name} onClick={() => end(feed)}>
                        {t('podcast.end')}
                      </Button>
                    </li>
                  )
                })}
              </ul>
              <div class="option-foot">
                <a class="button" href={under('/api/podcast/opml/')} download>
                  <Icon node={Download} />
                  {t('podcast.opml')}
                </a>
              </div>
            </>
          )
        }
      </Loaded>
    </Group>
  )
}
