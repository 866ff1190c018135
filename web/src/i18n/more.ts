// The English words of everything but the first page: imported by what is loaded behind it.
import more from './en.more.json';
import { addWords } from './i18n';

addWords('en', more);
