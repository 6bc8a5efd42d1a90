/** A link to the service that estimates dislikes, which its terms require wherever the numbers are shown. */
import { t } from '../texts/lookup.ts'

export const DislikesLink = () => (
  <a class="link" href="https://returnyoutubedislike.com/" target="_blank" rel="noopener noreferrer">
    {t('dislikes.source')}
  </a>
)
